import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows } from '#worker/workflow-bundle.ts';
import { scenarios } from './scenarios.ts';

const directory = new URL('./histories/', import.meta.url);
const files = readdirSync(directory).filter((name) => name.endsWith('.json'));

let workflowBundle: { code: string };
beforeAll(async () => {
  workflowBundle = await bundleWorkflows();
});

describe("today's workflows", () => {
  it('have a recorded history of every scenario', () => {
    const recorded = new Set(files.map((name) => name.replace(/^\d+\.\d+\.\d+-|\.json$/g, '')));
    expect(Object.keys(scenarios).filter((name) => !recorded.has(name))).toEqual([]);
  });

  it.each(files)('replay %s without a difference', async (file) => {
    const history = JSON.parse(readFileSync(new URL(file, directory), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle }, history);
  });

  it('fail the replay if they take another path', async () => {
    const text = readFileSync(new URL(files[0] ?? '', directory), 'utf8');
    const history = JSON.parse(text.replaceAll('executeAttempt', 'executeSomethingElse'));
    await expect(Worker.runReplayHistory({ workflowBundle }, history)).rejects.toThrow();
  });
});

describe('the recorded histories', () => {
  it('contain ids, and no details of a run', () => {
    for (const file of files) {
      const text = readFileSync(new URL(file, directory), 'utf8');
      const payloads = [...text.matchAll(/"data": "([^"]+)"/g)].map(([, data]) =>
        Buffer.from(data ?? '', 'base64').toString(),
      );
      expect(payloads.join('\n')).not.toMatch(/variables|sleep|scenario/);
    }
  });
});
