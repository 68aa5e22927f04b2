/** The names of the place of an instance or an assembly run; null for a level that it does not have. */
export interface PlaceNames {
  readonly team: string | null;
  readonly project: string | null;
  readonly environment: string | null;
}

/**
 * A name with its place, such as "network in Core / Backbone / Production". The team is always named: projects and environments of other
 * teams often have the same names, and a notification has no other context.
 */
export function inPlace(name: string, { team, project, environment }: PlaceNames): string {
  const path = [team, project, environment].filter((each) => each !== null).join(' / ');
  return path === '' ? name : `${name} in ${path}`;
}
