import type { FormProblems } from '#api/web/forms/problems.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import type { RunFacts } from './facts.ts';
import type { SentForm } from './submission.ts';

/** The form for a run, as a page shows it. */
export interface RunForm {
  readonly facts: RunFacts;
  readonly basic: Partial<SentForm['basic']>;
  readonly entry: VariablesEntry;
  /** The deployed secrets that the run does not take over. */
  readonly omitted: readonly string[];
  readonly problems: FormProblems | null;
  /** There is no problem: the visitor only has to see what the run changes, and to confirm it. */
  readonly isToConfirm: boolean;
  /** The form was sent before, and is shown again. */
  readonly isSent: boolean;
  /** The entered secrets, sealed. */
  readonly carried: string;
  /** The address to which the form is sent: that of the page. */
  readonly address: string;
}
