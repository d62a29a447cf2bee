// What a row says is asked. Words of the asker stand on sand, as everywhere.

import { Chip } from "../foreign";
import { titleOf } from "../holds/parts";
import type { Hold } from "../wire";

export function RowHeadline({ hold }: { hold: Hold }) {
  return <Chip text={titleOf(hold)} />;
}
