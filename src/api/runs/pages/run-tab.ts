import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import type { Html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { listAllRuns } from '../lists/list-operations.ts';
import type { getRun } from '../operations.ts';

/** A single run, as the API shows it to the visitor. */
export type ShownRun = EncodedAnswerOf<(typeof getRun)['responses']>;

/** A run in a list, as the API shows it to the visitor. */
export type ListedShownRun = EncodedAnswerOf<(typeof listAllRuns)['responses']>['runs'][number];

export type RunTabKey = 'plan' | 'log' | 'events' | 'details';

/** A visit of a page of one run. */
export type RunVisit = Visit<{ readonly id: string }>;

/** A review that was refused: what was typed, and what is wrong with it. */
export interface ReviewForm {
  readonly problems?: FormProblems | null;
  readonly typed?: Readonly<Record<string, string>>;
}

/** A part of a run's page. The page shows one at a time, below the head and the steps of the run. */
export interface RunTab {
  readonly key: RunTabKey;
  readonly label: string;
  /** Its name on the page of a scan, if that differs. */
  readonly labelOfScan?: string;
  /**
   * The content. While the run is under way, every change renders it again, so an element with a state in the browser needs an id by which
   * an update finds it. A refused review is shown below the plan.
   */
  readonly render: (visit: RunVisit, run: ShownRun, review: ReviewForm | null) => Promise<Html>;
  /**
   * The tab has a stream of its own, and updates leave it alone. Its script dispatches `changed` on the element `#stream` when its stream
   * reports a change of the run, so that the head and the steps are updated. Otherwise, the page opens a stream.
   */
  readonly hasOwnStream?: boolean;
  /** Parameters that the address of an update adds to that of the page, such as what the reader has already seen. */
  readonly liveQuery?: (visit: RunVisit, run: ShownRun) => Readonly<Record<string, string>>;
  /** Scripts that the tab needs. */
  readonly scripts?: readonly string[];
}

/** A part of the page of a run. */
export function runTabPath(id: string, tab: RunTabKey): LocalPath {
  return pagePath(pages.run, { id }, { tab });
}
