/** Where an instance or a run of an assembly is; null where there is none. */
export interface PlaceNames {
  readonly team: string | null;
  readonly project: string | null;
  readonly environment: string | null;
}

/**
 * Something with where it is, such as "network in Core / Backbone / Production". The team is always named: projects and environments of other teams often have
 * the same names, and a notification stands alone.
 */
export function inPlace(name: string, { team, project, environment }: PlaceNames): string {
  const path = [team, project, environment].filter((each) => each !== null).join(' / ');
  return path === '' ? name : `${name} in ${path}`;
}
