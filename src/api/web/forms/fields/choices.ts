import type { NamedKind } from '#domain/searched-kinds.ts';

/** A choice of a select or of radio buttons. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** What the choice means. Only radio buttons show it. */
  readonly hint?: string;
  /** The heading of its group. A select shows adjacent choices of a group together. */
  readonly group?: string;
}

/** The first choice of a required field, until the visitor chooses another. */
export const unchosen: Choice = { value: '', label: 'Choose…' };

/** The choices of a field, spread into it. */
export interface Choices {
  readonly choices: readonly Choice[];
  /** The list is incomplete. The field then also accepts the names of other things. */
  readonly isCut: boolean;
  /** The kinds of the choices, as in `FormField`. */
  readonly choiceKinds?: readonly NamedKind[] | undefined;
}

/** The choices without one of them, such as the current owner. */
export function without(value: string, { choices, ...more }: Choices): Choices {
  return { choices: choices.filter((choice) => choice.value !== value), ...more };
}

/** Says that a field does not offer all choices. */
export function explainCut({ choices, choiceKinds }: Pick<Choices, 'choices' | 'choiceKinds'>): string {
  const listed = choices.filter((choice) => choice.value !== '').length;
  const others = choiceKinds?.length === 0 ? 'another one' : 'the name or the ID of another one';
  return `Only the first ${listed} are listed. Type to search, or enter ${others}.`;
}

/** The text of a field for a value: the label of the choice, or the value itself if several choices have the same label. */
export function nameOfChoice(choices: readonly Choice[], value: string): string {
  const label = choices.find((choice) => choice.value === value)?.label;
  return label !== undefined && choices.filter((choice) => choice.label === label).length === 1 ? label : value;
}

/** The values that a typed text may mean: a value itself, or those with this label. */
export function valuesOfName(choices: readonly Choice[], typed: string): string[] {
  const text = typed.trim();
  const called = choices.filter(({ label }) => label.toLowerCase() === text.toLowerCase());
  return choices.some(({ value }) => value === text) ? [text] : called.map(({ value }) => value);
}
