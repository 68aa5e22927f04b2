import type { Client } from './client.ts';
import { deedScript } from './deeds.ts';

/** How many numbered lines each phase of a run of commands prints. */
export const printedLines = 40;

/** A kind of run that the load consists of. */
export interface Kind {
  readonly name: string;
  readonly templateId: string;
  /** How often it is chosen, beside the others. */
  readonly weight: number;
  /** Over how many instances its runs are spread: runs of one instance wait for each other. */
  readonly instances: number;
  readonly needsApproval: boolean;
  readonly retrySafe: boolean;
}

type Draft = Omit<Kind, 'templateId' | 'name'> & { spec: object };

/** Publishes a template of each kind. Every apply first leaves its run's mark with the server of deeds, outside of everything. */
export async function publishKinds(client: Client, deeds: number): Promise<Kind[]> {
  const drafts = Object.entries(describeKinds(deeds));
  return Promise.all(
    drafts.map(async ([name, { spec, ...rest }]) => {
      const { id } = await client.call('POST', '/registry/templates', { name, slug: name });
      await client.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec });
      return { name, templateId: id, ...rest };
    }),
  );
}

function describeKinds(deeds: number): Record<string, Draft> {
  const approval = { required: 1, when: 'always' };
  const plain = { needsApproval: false, retrySafe: false };
  return {
    quick: { ...plain, weight: 5, instances: 6, spec: commands(deeds, { planMs: 0, applyMs: 400 }) },
    slow: { ...plain, weight: 3, instances: 6, spec: commands(deeds, { planMs: 1_500, applyMs: 4_000 }) },
    reviewed: {
      needsApproval: true,
      retrySafe: false,
      weight: 3,
      instances: 8,
      spec: { ...commands(deeds, { planMs: 300, applyMs: 1_500 }), approval },
    },
    repeatable: {
      needsApproval: false,
      retrySafe: true,
      weight: 1,
      instances: 2,
      spec: { ...commands(deeds, { planMs: 0, applyMs: 3_000 }), retry_safe: true },
    },
    enduring: { ...plain, weight: 0, instances: 2, spec: commands(deeds, { planMs: 0, applyMs: 32_000 }) },
    infrastructure: { ...plain, weight: 2, instances: 3, spec: infrastructure(deeds) },
  };
}

const variables = { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] };

/** Prints numbered lines over a time, and remembers its mark. */
function commands(deeds: number, { planMs, applyMs }: { planMs: number; applyMs: number }): object {
  const pause = (ms: number) => (ms === 0 ? ':' : `sleep ${ms / printedLines / 1000}`);
  const print = (ms: number) =>
    `i=1; while [ $i -le ${printedLines} ]; do echo "$COORDINATOR_PHASE line $i"; i=$((i+1)); ${pause(ms)}; done`;
  const change = '[{"address":"thing","action":"create","before":null,"after":{}}]';
  return {
    variables,
    executor: {
      kind: 'command',
      files: { 'deed.sh': deedScript(deeds) },
      plan: [{ name: 'think', run: ['sh', '-c', `${print(planMs)}; echo '${change}' > plan.json`] }],
      apply: [
        { name: 'mark', run: ['sh', '-c', './deed.sh "$COORDINATOR_VAR_MARK"'] },
        { name: 'remember', run: ['sh', '-c', `echo "{\\"mark\\":\\"$COORDINATOR_VAR_MARK\\"}" > state.json`] },
        { name: 'work', run: ['sh', '-c', print(applyMs)] },
      ],
    },
  };
}

/** Resources that are made one after another; the first one leaves its run's mark outside. */
function infrastructure(deeds: number): object {
  return {
    variables,
    executor: {
      kind: 'opentofu',
      files: {
        'deed.sh': deedScript(deeds),
        'main.tf': `
variable "mark" { type = string }
resource "terraform_data" "first" {
  triggers_replace = var.mark
  provisioner "local-exec" { command = "./deed.sh \${var.mark}; sleep 1" }
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
