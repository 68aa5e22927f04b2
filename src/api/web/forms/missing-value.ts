import type { FormField } from './fields/form-field.ts';

/** What a problem says of a field without a value, before it is known which field that is. */
const anyMissing = 'Enter a value.';
/** What the rules of operations say of an empty choice, among other things. */
const anyUnchosen = new Set([
  'Choose one.',
  'Choose one of the options.',
  'Choose an environment.',
  'This does not exist: choose another one.',
]);

/** Labels that are no nouns, such as "Until" and "Type core to confirm". Their problems stay as they are. */
const sentenceLabel =
  /^(?:About|Who|Where|Why|When|What|Or|Only|Keep|Give|From|Until|To|On|Starts|Ends|Attached)\b| to confirm$/;
const chosenKinds = new Set<FormField['kind']>(['select', 'radio', 'files', 'folder']);

/** The problems of a field, each on a line. One that misses a value names what to enter: "Enter the name." */
export function nameMissing(problems: string, field: Pick<FormField, 'label' | 'kind' | 'value'>): string {
  return problems
    .split('\n')
    .map((line) => (isMissing(line, field) && !sentenceLabel.test(field.label) ? nameOf(field) : line))
    .join('\n');
}

function isMissing(line: string, { kind, value = '' }: Pick<FormField, 'kind' | 'value'>): boolean {
  return line === anyMissing || (chosenKinds.has(kind) && value === '' && anyUnchosen.has(line));
}

function nameOf({ label, kind }: Pick<FormField, 'label' | 'kind'>): string {
  return `${chosenKinds.has(kind) ? 'Choose' : 'Enter'} the ${lowerFirst(label)}.`;
}

/** An abbreviation stays as it is: "URL". */
function lowerFirst(label: string): string {
  return /^[A-Z][A-Z]/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}
