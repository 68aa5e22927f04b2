import type { NamedKind } from '#domain/searched-kinds.ts';

/** A choice of a select or of radio buttons. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** What the choice means. Only radio buttons show it. */
  readonly hint?: string;
  /** What it belongs to. A select shows those that follow each other under this heading. */
  readonly group?: string;
}

/** Stands before the choices of a field that must be filled in, until its visitor chooses. */
export const unchosen: Choice = { value: '', label: 'Choose…' };

/** The choices of a field, spread into it. */
export interface Choices {
  readonly choices: readonly Choice[];
  /** There are more than these. The field then also takes the name of another. */
  readonly isCut: boolean;
  /** As fields have them. */
  readonly choiceKinds?: readonly NamedKind[] | undefined;
}

/** The choices but one, such as the owner that something has already. */
export function without(value: string, { choices, ...more }: Choices): Choices {
  return { choices: choices.filter((choice) => choice.value !== value), ...more };
}

/** What a field with too many choices says, so that nobody believes that these are all. */
export function explainCut({ choices, choiceKinds }: Pick<Choices, 'choices' | 'choiceKinds'>): string {
  const listed = choices.filter((choice) => choice.value !== '').length;
  const others = choiceKinds?.length === 0 ? 'another one' : 'the name or the ID of another one';
  return `Only the first ${listed} are listed. Type to search, or enter ${others}.`;
}

/** What a field that offers names shows for a value: the label of the choice. Where several have the same label, it is the value. */
export function nameOfChoice(choices: readonly Choice[], value: string): string {
  const label = choices.find((choice) => choice.value === value)?.label;
  return label !== undefined && choices.filter((choice) => choice.label === label).length === 1 ? label : value;
}

/** The values that a visitor may have meant by typing one of them, or a label. */
export function valuesOfName(choices: readonly Choice[], typed: string): string[] {
  const text = typed.trim();
  const called = choices.filter(({ label }) => label.toLowerCase() === text.toLowerCase());
  return choices.some(({ value }) => value === text) ? [text] : called.map(({ value }) => value);
}
