import type { FormField } from './fields/form-field.ts';

/** The problem of an empty field, before it is known which field that is. */
const anyMissing = 'Enter a value.';
/** Problems of operations that may be about an empty choice. */
const anyUnchosen = new Set([
  'Choose one.',
  'Choose one of the options.',
  'Choose an environment.',
  'This does not exist: choose another one.',
]);

/** Labels that are not nouns, such as "Until" and "Type core to confirm". The problems of their fields stay as they are. */
const sentenceLabel =
  /^(?:About|Who|Where|Why|When|What|Or|Only|Keep|Give|From|Until|To|On|Starts|Ends|Attached)\b| to confirm$/;
const chosenKinds = new Set<FormField['kind']>(['select', 'radio', 'files', 'folder']);

/** The problems of a field, one a line. For a missing value, the problem names it: "Enter the name." */
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

/** Makes the first letter lower case, unless an abbreviation begins there, as in "URL". */
function lowerFirst(label: string): string {
  return /^[A-Z][A-Z]/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}
