/**
 * What the audit record of a command compares: these fields, or none if nothing had to change. A command that changed nothing is audited
 * and publishes no event.
 */
export function comparedIf<Fields extends object>(hasChanged: boolean, compared: Fields): Fields | typeof nothing {
  return hasChanged ? compared : nothing;
}

const nothing = { before: {}, after: {} } as const;
