import type { FormProblems } from '#api/web/forms/problems.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import type { RunFacts } from './facts.ts';
import type { SentForm } from './sent.ts';

/** The form for a run, as it is shown. */
export interface RunForm {
  readonly facts: RunFacts;
  readonly basic: Partial<SentForm['basic']>;
  readonly entry: VariablesEntry;
  readonly problems: FormProblems | null;
  /** Where the form is sent: the page's own address. */
  readonly address: string;
}
