import type { TestApi } from '../../api/in-process-api.ts';
import { required } from '../answers.ts';
import type { People } from '../people.ts';
import { hostileName, hostileText, longWord, savedName } from './texts.ts';

/** Schedules whose every text attacks the pages that show it, by what they start. */
export type HostileSchedules = Readonly<Record<'run' | 'assembly', string>>;

interface Place {
  readonly teamId: string;
  readonly templateId: string;
  readonly environmentId: string;
  readonly assemblyId: string;
}

/** Adds schedules with a history of what hostile people caused. */
export async function addHostileSchedules(api: TestApi, { owner }: People, place: Place): Promise<HostileSchedules> {
  const { teamId: team_id, templateId: template_id, environmentId: environment_id } = place;
  const message = hostileText;
  const make = async (work: object): Promise<string> => {
    const body = { team_id, name: savedName(), schedule: { every: 'P1D' }, work };
    const { id } = required(await owner.post('/schedules', body), 201);
    await addHistory(api, id);
    return id;
  };
  const variables = { plain: hostileText, [longWord(128)]: hostileText };
  const version = `1.0.0-${longWord(50)}`;
  return {
    run: await make({ run: { template_id, environment_id, instance: 'w'.repeat(100), message, variables } }),
    assembly: await make({
      assembly_run: {
        assembly_id: place.assemblyId,
        environment_id,
        version,
        message,
        variables: { note: hostileText },
      },
    }),
  };
}

async function addHistory(api: TestApi, id: string): Promise<void> {
  for (const [day, message] of [hostileText, longWord(400)].entries())
    await api.rows(
      `insert into schedule_firings (id, schedule_id, scheduled_at, outcome, reason, message, requester_name, created_at)
       values (gen_random_uuid(), ?, now() - make_interval(days => ?), 'failed', 'refused', ?, ?, now())`,
      [id, day + 1, message, hostileName(200)],
    );
}
