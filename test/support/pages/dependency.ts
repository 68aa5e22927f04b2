import type { OutputRead } from '#domain/runs/references/model.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { required } from './answers.ts';
import type { People } from './people.ts';
import type { Place } from './runs/places.ts';

/** Lets an instance follow outputs of another one that it was deployed with, and that are other ones by now. */
export async function addDependency(
  api: TestApi,
  { owner }: People,
  { source, reader }: { readonly source: Place; readonly reader: Place },
): Promise<void> {
  const readers = { team_ids: [reader.team.id], environment_ids: [reader.environment.id] };
  required(await owner.put(`/instances/${source.id}/readers`, readers), 200);
  required(await owner.put(`/instances/${reader.id}/follow`, { enabled: true }), 200);
  const [deployed] = (await api.rows('select deployed_run_id as id from instances where id = ?', [source.id])) as {
    id: string;
  }[];
  const reads = Object.keys(source.outputs).map(
    (output): OutputRead => ({
      variable: output,
      path: '',
      reference: `\${instances.production/${source.name}.outputs.${output}}`,
      instanceId: source.id,
      instance: `network/production/${source.name}`,
      output,
      sensitive: false,
      stateSerial: 1,
      runId: deployed?.id ?? null,
      readAt: new Date().toISOString(),
      copied: false,
    }),
  );
  await api.rows('update runs set reads = ? where id = (select deployed_run_id from instances where id = ?)', [
    JSON.stringify(reads),
    reader.id,
  ]);
}
