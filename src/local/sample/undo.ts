import type { SampleClient } from './client.ts';
import type { SampleTemplate } from './templates.ts';

/** How long the sample waits for the second run, and for its check. */
const followForMs = 120_000;
const ended = ['ready', 'conflicted', 'blocked', 'failed'];

/** Reports for the states of an attempt. Without OpenTofu, drift of the instance cannot be detected. */
const words: Readonly<Record<string, string>> = {
  ready: 'it can be undone: press Plan it',
  blocked: 'it says why it cannot be undone',
};

/** Runs a template once more with another greeting, and checks what undoing that run would change. */
export async function addSampleUndo(
  client: SampleClient,
  environmentId: string,
  { id, template }: { readonly id: string; readonly template: SampleTemplate },
  report: (line: string) => void,
): Promise<void> {
  report(`${template.name}: running it once more, and checking what an undo of that run would change …`);
  const runId = await client.create('/runs', {
    template_id: id,
    environment_id: environmentId,
    instance: template.slug,
    variables: { ...template.variables, greeting: 'Good evening' },
    message: 'Another greeting. Press Undo to take it back',
  });
  const { status } = await client.follow(runId, () => undefined, followForMs);
  if (status !== 'succeeded')
    return report(`${template.name}: the second run ended ${status}, so there is nothing to undo.`);
  const attemptId = await client.create(`/runs/${runId}/selective-undo/check`);
  const attempt = await client.awaitStatus(`/selective-undo/${attemptId}`, ended, followForMs);
  report(`Undo of the second run of "${template.name}" was checked: ${words[attempt.status] ?? attempt.status}.`);
}
