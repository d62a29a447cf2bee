// What a row says is asked: verb and amount in our words, and where.

export { RowHeadline } from "../holds/headline";
