import type { TestApi } from '../../api/in-process-api.ts';
import { required } from '../answers.ts';
import { type RunProgress, setProgress } from '../assemblies/progress.ts';
import type { People } from '../people.ts';
import { hostileName, hostileText, longWord, savedName } from './texts.ts';

/** An assembly whose every text attacks the pages that show it. */
export interface HostileAssembly {
  readonly id: string;
  readonly runs: Readonly<Record<'failed' | 'waiting', string>>;
}

interface Place {
  readonly teamId: string;
  readonly templateId: string;
  readonly environmentId: string;
}

/** The hostile text without references, which a spec would have to resolve. */
const literalText = hostileText.replaceAll('${', () => '$${');
/** Names of instances are strict: only their length can attack. */
const longInstance = 'w'.repeat(100);
const longKey = `n${'w'.repeat(62)}`;

/** Adds a version, a draft that is wrong, and runs. The owner of the installation may read them. */
export async function addHostileAssembly(api: TestApi, { owner }: People, place: Place): Promise<HostileAssembly> {
  const { teamId: team_id, templateId, environmentId } = place;
  const named = { name: savedName(), slug: 'hostile', description: hostileText };
  const { id } = await owner.make('/assemblies', { ...named, team_id });
  const path = `/assemblies/${id}`;
  required(await owner.put(`${path}/draft`, { spec: specOf(templateId) }), 200);
  required(await owner.post(`${path}/publish`, { version: `1.0.0-${longWord(50)}`, changelog: hostileText }), 201);
  required(await owner.put(`${path}/draft`, { spec: wrongDraft }), 200);
  const start = async (progress: RunProgress) => {
    const body = { environment_id: environmentId, message: hostileText, variables: { note: hostileText } };
    const version = `1.0.0-${longWord(50)}`;
    const runId = required(await owner.post(`${path}/runs`, { ...body, version }), 202).id as string;
    await setProgress(api, runId, progress);
    return runId;
  };
  return { id, runs: { failed: await start(failed), waiting: await start(waiting) } };
}

function specOf(template: string) {
  const note = `\${variables.note} ${literalText}`;
  return {
    description: hostileText,
    variables: {
      type: 'object',
      properties: {
        note: { type: 'string', title: hostileName(), description: hostileText, default: hostileText },
        [longWord(128)]: { type: 'string', title: longWord(400), writeOnly: true },
      },
    },
    nodes: {
      [longKey]: { template, variables: { plain: note }, instance: longInstance, approval: { required: 10 } },
      constructor: { template, variables: { plain: literalText }, depends_on: [longKey] },
      last: {
        template,
        variables: { plain: literalText },
        depends_on: ['constructor'],
        when: `variables.note != ${JSON.stringify(`</code><script>alert(1)</script>${longWord(200)}`)}`,
      },
    },
    outputs: { [longWord(128)]: `\${variables.note} ${hostileName()}` },
  };
}

/** Its messages repeat what it says. */
const wrongDraft = `# ${hostileName()}
nodes:
  one:
    template: ${JSON.stringify(hostileName())}
    depends_on: [${JSON.stringify(longWord(63).toLowerCase())}]
    when: ${JSON.stringify(`variables["${longWord(200)}"] == "</textarea><script>alert(1)</script>"`)}
    variables: {plain: ${JSON.stringify(`\${nodes.${'w'.repeat(63)}.outputs.x} </textarea>${longWord(400)}`)}}
  ${JSON.stringify(hostileName())}: {template: x}
`;

const failed: RunProgress = {
  status: 'failed',
  reason: 'nodes_failed',
  minutesAgo: 90,
  outputs: { [longWord(128)]: { value: hostileText, sensitive: false } },
  nodes: (key) => ({
    status: key === 'last' ? 'skipped' : 'failed',
    attempts: 10,
    reason: { code: key === 'last' ? 'condition_false' : 'refused', message: hostileText },
  }),
};

const waiting: RunProgress = {
  status: 'running',
  minutesAgo: 3,
  nodes: (key) =>
    key === longKey
      ? { status: 'running', attempts: 1 }
      : { status: 'pending', waiting: { code: 'dependencies', nodes: [longKey] } },
};
