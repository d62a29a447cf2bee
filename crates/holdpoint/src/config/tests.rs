mod bad;
mod example;
mod good;
