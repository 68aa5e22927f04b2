import { recordScript } from './apply-recorder.ts';
import type { Client } from './client.ts';

/** How many numbered lines each phase of a command template prints. */
export const printedLines = 40;

/** A kind of run in the load. */
export interface RunKind {
  readonly name: string;
  readonly templateId: string;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  /** The number of instances that its runs are spread over. Runs of one instance wait for each other. */
  readonly instances: number;
  readonly needsApproval: boolean;
  readonly retrySafe: boolean;
}

type Draft = Omit<RunKind, 'templateId' | 'name'> & { spec: object };

/** Publishes a template of each kind. Every apply first sends its run's mark to the recorder. */
export async function publishRunKinds(client: Client, recorderPort: number): Promise<RunKind[]> {
  const drafts = Object.entries(describeRunKinds(recorderPort));
  return Promise.all(
    drafts.map(async ([name, { spec, ...rest }]) => {
      const { id } = await client.call('POST', '/registry/templates', { name, slug: name });
      await client.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec });
      return { name, templateId: id, ...rest };
    }),
  );
}

function describeRunKinds(recorderPort: number): Record<string, Draft> {
  const approval = { required: 1, when: 'always' };
  const plain = { needsApproval: false, retrySafe: false };
  return {
    quick: { ...plain, weight: 5, instances: 6, spec: commands(recorderPort, { planMs: 0, applyMs: 400 }) },
    slow: { ...plain, weight: 3, instances: 6, spec: commands(recorderPort, { planMs: 1_500, applyMs: 4_000 }) },
    reviewed: {
      needsApproval: true,
      retrySafe: false,
      weight: 3,
      instances: 8,
      spec: { ...commands(recorderPort, { planMs: 300, applyMs: 1_500 }), approval },
    },
    repeatable: {
      needsApproval: false,
      retrySafe: true,
      weight: 1,
      instances: 2,
      spec: { ...commands(recorderPort, { planMs: 0, applyMs: 3_000 }), retry_safe: true },
    },
    enduring: { ...plain, weight: 0, instances: 2, spec: commands(recorderPort, { planMs: 0, applyMs: 32_000 }) },
    infrastructure: { ...plain, weight: 2, instances: 3, spec: infrastructure(recorderPort) },
  };
}

const variables = { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] };

/** Prints numbered lines over a period, and stores its mark as its state. */
function commands(recorderPort: number, { planMs, applyMs }: { planMs: number; applyMs: number }): object {
  const pause = (ms: number) => (ms === 0 ? ':' : `sleep ${ms / printedLines / 1000}`);
  const print = (ms: number) =>
    `i=1; while [ $i -le ${printedLines} ]; do echo "$COORDINATOR_PHASE line $i"; i=$((i+1)); ${pause(ms)}; done`;
  const change = '[{"address":"thing","action":"create","before":null,"after":{}}]';
  return {
    variables,
    executor: {
      kind: 'command',
      files: { 'record.sh': recordScript(recorderPort) },
      plan: [{ name: 'think', run: ['sh', '-c', `${print(planMs)}; echo '${change}' > plan.json`] }],
      apply: [
        { name: 'mark', run: ['sh', '-c', './record.sh "$COORDINATOR_VAR_MARK"'] },
        { name: 'remember', run: ['sh', '-c', `echo "{\\"mark\\":\\"$COORDINATOR_VAR_MARK\\"}" > state.json`] },
        { name: 'work', run: ['sh', '-c', print(applyMs)] },
      ],
    },
  };
}

/** Resources that are created one after another. The first one sends its run's mark to the recorder. */
function infrastructure(recorderPort: number): object {
  return {
    variables,
    executor: {
      kind: 'opentofu',
      files: {
        'record.sh': recordScript(recorderPort),
        'main.tf': `
variable "mark" { type = string }
resource "terraform_data" "first" {
  triggers_replace = var.mark
  provisioner "local-exec" { command = "./record.sh \${var.mark}; sleep 1" }
}
resource "terraform_data" "second" {
  triggers_replace = terraform_data.first.id
  provisioner "local-exec" { command = "sleep 1" }
}
`,
      },
    },
  };
}
