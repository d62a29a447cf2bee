// One call in the sheet for many: as on its card, with warnings, the model's own words and all that is folded.

import { FoldsOf, type Folds } from "../folding";
import { Parts, RecordView } from "../holds/parts";
import { Rationale } from "../holds/rationale";
import { FrontWarnings, MoreWarnings } from "../holds/warnings";
import type { Hold } from "../wire";

export function WholeCall({ hold, opened, open }: Folds & { hold: Hold }) {
  return (
    <FoldsOf.Provider value={{ opened, open }}>
      <FrontWarnings hold={hold} />
      <MoreWarnings hold={hold} />
      <Parts
        hold={hold}
        controls={false}
        title={null}
        said={<Rationale hold={hold} />}
        record={
          <RecordView hold={hold}>
            <code class="digest">{hold.digest}</code>
          </RecordView>
        }
      />
    </FoldsOf.Provider>
  );
}
