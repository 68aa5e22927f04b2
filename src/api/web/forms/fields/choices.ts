/** A choice of a select or of radio buttons. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** What the choice means. Only radio buttons show it. */
  readonly hint?: string;
  /** What it belongs to. A select shows those that follow each other under this heading. */
  readonly group?: string;
}

/** The choices of a field, spread into it. */
export interface Choices {
  readonly choices: readonly Choice[];
  /** There are more than these. The field then also takes the id of another. */
  readonly isCut: boolean;
}

/** The choices from one page of a list, by their names. */
export function choicesOf(things: readonly { id: string; name: string }[], nextCursor: string | null): Choices {
  return { choices: things.map(({ id, name }) => ({ value: id, label: name })), isCut: nextCursor !== null };
}

/** The choices but one, such as the owner that something has already. */
export function without(value: string, { choices, isCut }: Choices): Choices {
  return { choices: choices.filter((choice) => choice.value !== value), isCut };
}

/** What a field with too many choices says, so that nobody believes that these are all. */
export function explainCut(choices: readonly Choice[], value: string | undefined): string {
  const chosen = choices.find((choice) => choice.value === value && value !== '');
  const offered = `Only the first ${choices.filter((choice) => choice.value !== '').length} are listed. Type to search, or enter the ID of another one.`;
  return chosen ? `Chosen: ${chosen.label}. ${offered}` : offered;
}
