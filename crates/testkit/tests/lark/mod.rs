//! The connectors of Feishu and DingTalk against fakes of their platforms, over real HTTP and real
//! WebSockets. The platforms' own SDKs judge the same fakes in the test target `channels`.

mod dingtalk;
mod feishu;
mod whole;
