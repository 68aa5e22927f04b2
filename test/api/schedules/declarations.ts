import { newId } from '#domain/shared/ids.ts';
import { addNamed } from '#test/support/api/add-named.ts';
import type { AreaDeclarations } from '#test/support/areas/declaration.ts';
import { schedulePages } from '#test/support/pages/list/schedule-pages.ts';
import { addSchedules } from '#test/support/pages/schedules.ts';

/** A schedule that runs a template once a year. */
export function yearly({ team, environment, template }: { team: string; environment: string; template: string }) {
  const run = { template_id: template, environment_id: environment };
  return { team_id: team, name: 'Yearly', schedule: { cron: '0 0 1 1 *' }, work: { run } };
}

export const access = `
schedules.list                      environment:read                    team:metadata.read
schedules.create                    environment:write                   team:metadata.write
schedules.get                       environment:read                    team:metadata.read
schedules.update                    environment:write                   team:metadata.write
schedules.delete                    environment:write                   team:metadata.write
schedules.trigger                   environment:write                   team:metadata.write
`;

export const resources = {
  schedule: {
    namedBy: ['schedules'],
    reviewed: 'schedules',
    needsWork: true,
    takesLong: true,
    add: (_api, root, place) => addNamed(root, '/schedules', yearly(place)),
  },
} satisfies AreaDeclarations['resources'];

export const bodies: AreaDeclarations['bodies'] = {
  'schedules.create': yearly,
  'schedules.update': () => ({ name: 'Renamed' }),
};

export const answers: AreaDeclarations['answers'] = {
  'schedules.create': [201, '/api/v1/schedules/:id'],
  'schedules.update': [200, '/api/v1/schedules/:id'],
  'schedules.delete': [204],
  'schedules.trigger': [202, '/api/v1/schedules/:id'],
};

export const namedOwners: AreaDeclarations['namedOwners'] = [
  {
    operation: 'schedules.create',
    field: 'team_id',
    status: 404,
    names: 'team',
    send: (ids, id) => ['/schedules', { ...yearly({ ...ids, team: id }) }],
  },
];

export const refusals: AreaDeclarations['refusals'] = {
  schedule_work_unknown: ({ owner, team }) =>
    owner.post('/schedules', {
      team_id: team,
      name: 'Nightly',
      schedule: { every: '1d' },
      work: { run: { template_id: newId() } },
    }),
};

/** The outcomes of the weekly schedule's last twelve times. */
const outcomes = Array.from({ length: 4 }, () => ['failed', 'skipped', 'started']).flat();

export const show: AreaDeclarations['show'] = async (api, place) => {
  const schedules = await addSchedules(api, place, place.assemblies.shop.id);
  return {
    pages: schedulePages(schedules),
    states: [
      [
        'weekly schedule',
        `/schedules/${schedules.weekly}`,
        { enabled: true, last_results: outcomes.map((outcome) => ({ outcome })) },
      ],
      ['paused schedule', `/schedules/${schedules.paused}`, { enabled: false }],
    ],
  };
};
