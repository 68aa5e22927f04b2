import type { SampleClient } from './client.ts';

/** Adds a paused schedule that would run the sample template every Monday. */
export async function addSampleSchedule(
  client: SampleClient,
  { teamId, environmentId }: { teamId: string; environmentId: string },
  templateId: string,
  report: (line: string) => void,
): Promise<void> {
  await client.create('/schedules', {
    team_id: teamId,
    name: 'Every Monday',
    schedule: { cron: '0 7 * * MON', timezone: 'UTC' },
    work: {
      run: { template_id: templateId, environment_id: environmentId, message: 'Started by the schedule of the sample' },
    },
    enabled: false,
  });
  report('Created a paused schedule: resume it on the page Schedules, or start it there now.');
}
