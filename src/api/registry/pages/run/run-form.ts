import type { FormProblems } from '#api/web/forms/problems.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import type { RunFacts } from './facts.ts';
import type { SentForm } from './submission.ts';

/** The form for a run, as it is shown. */
export interface RunForm {
  readonly facts: RunFacts;
  readonly basic: Partial<SentForm['basic']>;
  readonly entry: VariablesEntry;
  /** The deployed secrets that are not taken over. */
  readonly omitted: readonly string[];
  readonly problems: FormProblems | null;
  /** Nothing is wrong: the visitor only has to see what the run changes, and to confirm it. */
  readonly isToConfirm: boolean;
  /** It was sent before, and is shown again. */
  readonly isSent: boolean;
  /** The secrets that were entered, sealed. */
  readonly carried: string;
  /** Where the form is sent: the page's own address. */
  readonly address: string;
}
