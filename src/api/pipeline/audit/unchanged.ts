/**
 * What the audit of a command compares: the given fields, or none if the command found everything as it was asked for. A command that changed nothing is
 * audited, and has no event.
 */
export function comparedIf<Fields extends object>(hasChanged: boolean, compared: Fields): Fields | typeof nothing {
  return hasChanged ? compared : nothing;
}

const nothing = { before: {}, after: {} } as const;
