import { expect, it } from 'vitest';
import { findCovering, type PlacedSubscription } from '#domain/notification-channels/coverage.ts';

const everything = (...events: string[]) => place({ events });
const team = (teamId: string, ...events: string[]) => place({ teamId, placeTeamId: teamId, events });
const environment = (environmentId: string, placeTeamId: string, ...events: string[]) =>
  place({ environmentId, placeTeamId, events });

function place(given: Partial<PlacedSubscription>): PlacedSubscription {
  return { teamId: null, environmentId: null, placeTeamId: null, events: [], ...given };
}

it.each<[string, PlacedSubscription[], (number | null)[]]>([
  ['everything covers an environment', [everything('*'), environment('e', 't', 'run.finished')], [null, 0]],
  ['a team covers its environment', [environment('e', 't', 'run.finished'), team('t', 'run.*')], [1, null]],
  ["a team does not cover another team's environment", [environment('e', 'u', '*'), team('t', '*')], [null, null]],
  ['an environment covers no team', [environment('e', 't', '*'), team('t', '*')], [1, null]],
  ['everything of few events covers no more events', [everything('run.finished'), team('t', '*')], [null, null]],
  ['the first of two equal ones covers the other', [team('t', 'run.*'), team('t', 'run.*')], [null, 0]],
  ['a team covers no subscription to everything', [team('t', '*'), everything('run.finished')], [null, null]],
])('which subscription covers another: %s', (_title, all, expected) => {
  expect(all.map((_each, index) => findCovering(all, index))).toEqual(expected);
});
