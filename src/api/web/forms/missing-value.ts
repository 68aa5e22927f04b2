import type { FormField } from './fields/form-field.ts';

/** What a problem says of a field without a value, before it is known which field that is. */
const anyMissing = 'Enter a value.';

/** Labels that are no nouns, such as "Until" and "Type core to confirm". */
const sentenceLabel =
  /^(?:Who|Where|Why|When|What|Or|Only|Keep|Give|From|Until|To|On|Starts|Ends|Attached)\b| to confirm$/;
const chosenKinds = new Set<FormField['kind']>(['select', 'radio', 'files', 'folder']);

/** The problems of a field, each on a line. One that misses a value names what to enter: "Enter the name." */
export function nameMissing(problems: string, { label, kind }: Pick<FormField, 'label' | 'kind'>): string {
  const verb = chosenKinds.has(kind) ? 'Choose' : 'Enter';
  const missing = sentenceLabel.test(label) ? anyMissing : `${verb} the ${lowerFirst(label)}.`;
  const lines = problems.split('\n');
  return lines.map((line) => (line === anyMissing ? missing : line)).join('\n');
}

/** An abbreviation stays as it is: "URL". */
function lowerFirst(label: string): string {
  return /^[A-Z][A-Z]/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}
