import type { SampleClient } from './client.ts';

const followForMs = 120_000;

/** Deploys an instance that follows an output of another one: a run of the other starts a run of this one. */
export async function addSampleFollower(
  client: SampleClient,
  environmentId: string,
  templateId: string,
  report: (line: string) => void,
): Promise<void> {
  const deploy = async (instance: string, greeting: string) => {
    const message = 'An instance of the sample whose output another one reads';
    const place = { template_id: templateId, environment_id: environmentId, instance };
    const id = await client.create('/runs', { ...place, variables: { greeting }, message });
    return client.follow(id, () => undefined, followForMs);
  };
  report('Deploying two instances, one of which follows an output of the other …');
  const source = await deploy('head-office', 'Good morning');
  await client.replace(`/instances/${source.instance_id}/readers`, { environment_ids: [environmentId] });
  const reader = await deploy('front-desk', '${instances.development/head-office.outputs.message}');
  await client.replace(`/instances/${reader.instance_id}/follow`, { enabled: true });
  report('The instance front-desk follows the output of head-office: deploy head-office with another greeting.');
}
