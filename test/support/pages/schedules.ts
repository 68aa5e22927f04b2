import type { TestApi } from '../api/in-process-api.ts';
import { required } from './answers.ts';
import type { Templates } from './catalog/add-templates.ts';
import type { Environments } from './environments.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

/** Schedules by what they show. */
export interface SeededSchedules {
  /** With a long history of every outcome. */
  readonly weekly: string;
  readonly paused: string;
}

interface Place {
  readonly people: People;
  readonly tenants: Tenants;
  readonly environments: Environments;
  readonly templates: Templates;
}

/** Adds schedules of the platform team. */
export async function addSchedules(api: TestApi, place: Place, assemblyId: string): Promise<SeededSchedules> {
  const { people, tenants, environments, templates } = place;
  const environment_id = environments.networkProduction.id;
  const make = async (name: string, schedule: object, work: object, enabled = true): Promise<string> => {
    const body = { team_id: tenants.teams.platform.id, name, schedule, work, enabled };
    return required(await people.owner.post('/schedules', body), 201).id;
  };
  const destroy = { run: { template_id: templates.network.id, environment_id, operation: 'destroy' } };
  const variables = { password: 'correct horse battery' };
  const assembly = { assembly_run: { assembly_id: assemblyId, environment_id, operation: 'plan', variables } };
  const berlin = { timezone: 'Europe/Berlin' };
  const weekly = await make('Take the lab down at the weekend', { cron: '0 18 * * FRI', ...berlin }, destroy);
  const paused = await make(
    'Preview of the shop every morning',
    { cron: '30 6 * * MON-FRI', ...berlin },
    assembly,
    false,
  );
  await make('Look after the certificates', { every: '12h' }, destroy);
  await addHistory(api, weekly);
  return { weekly, paused };
}

const results: readonly [outcome: string, reason: string | null, message: string | null][] = [
  ['started', null, null],
  [
    'failed',
    'authority_disabled',
    'the user or account that it runs as is disabled: have another person save the work',
  ],
  ['skipped', 'still_running', 'what it started before has not ended'],
];

async function addHistory(api: TestApi, id: string): Promise<void> {
  for (let week = 1; week <= 12; week += 1) {
    const [outcome, reason, message] = results[week % results.length] ?? ['started', null, null];
    await api.rows(
      `insert into schedule_firings (id, schedule_id, scheduled_at, outcome, reason, message, run_id, created_at)
       select gen_random_uuid(), ?, now() - make_interval(weeks => ?), ?, ?, ?,
         case when ? = 'started' then (select id from runs where finished_at is not null order by id desc offset ? limit 1) end, now()`,
      [id, week, outcome, reason, message, outcome, week],
    );
  }
}
