import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { InstalledTool } from '#executors/client/tools.ts';
import type { Caller } from '#test/support/api/caller.ts';
import { type Configuration, listFiles } from './configurations.ts';
import { type Lifecycle, objectOf, type Stage, stateOf } from './lifecycle.ts';

/** Runs configurations by a service, as its users would. */
export class ConformingService {
  readonly #caller: Caller;
  #number = 0;

  /** @param caller an administrator */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Publishes a configuration as it is, applies it, plans it again and destroys it. */
  async run(tool: InstalledTool, configuration: Configuration): Promise<Lifecycle> {
    this.#number += 1;
    const slug = `${tool.name}-${this.#number}`;
    const template = await this.#caller.post('/registry/templates', { name: slug, slug });
    if (template.status !== 201) throw new Error(template.text);
    const version = await this.#publish(template.body.id, describeSpec(tool, configuration));
    if (version.status !== 201) return refused(version.text);
    const admit = (operation: string) => this.#runToEnd(template.body.id, operation, configuration.variables);
    const applied = await admit('apply');
    if (typeof applied === 'string') return ended('plan', applied);
    const plan = await this.#readPlan(applied.id);
    if (applied.status !== 'succeeded') {
      return ended(plan === null ? 'plan' : 'apply', messageOf(applied), plan);
    }
    const outputs = objectOf(parseExactJson(await this.#readText(`/runs/${applied.id}`)))['outputs'] ?? {};
    const state = await this.#readState(applied.instance_id);
    const again = await admit('plan');
    const destroyed = await admit('destroy');
    if (typeof again === 'string' || typeof destroyed === 'string') throw new Error(`${again} ${destroyed}`);
    const isDone = destroyed.status === 'succeeded';
    return {
      stage: isDone ? 'done' : 'destroy',
      error: isDone ? null : messageOf(destroyed),
      plan,
      outputs,
      state,
      isSettled: again.status === 'succeeded' && (await this.#changesNothing(again.id)),
    };
  }

  /** A caller may have few repositories read at once. */
  async #publish(templateId: string, spec: object) {
    for (;;) {
      const path = `/registry/templates/${templateId}/versions`;
      const answer = await this.#caller.post(path, { version: '1.0.0', spec }, { accept: 'application/problem+json' });
      if (answer.status !== 429) return answer;
      await delay(2_000);
    }
  }

  /** Returns the ended run, or why the service admits none. */
  async #runToEnd(templateId: string, operation: string, variables: object): Promise<Run | string> {
    const request = { template_id: templateId, version: '1.0.0', instance: 'main', operation, variables };
    const admitted = await this.#caller.post('/runs', request);
    if (admitted.status === 409 || admitted.status === 422) return admitted.body.error;
    if (admitted.status !== 202) throw new Error(admitted.text);
    for (;;) {
      const run = Run.parse((await this.#caller.get(`/runs/${admitted.body.id}?wait=30s`)).body);
      if (['succeeded', 'failed', 'canceled', 'timed_out'].includes(run.status)) return run;
    }
  }

  async #readText(path: string): Promise<string> {
    const answer = await this.#caller.get(path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.text;
  }

  async #readPlan(runId: string): Promise<JsonValue> {
    const answer = await this.#caller.get(`/runs/${runId}/plan`);
    return answer.status === 200 ? parseExactJson(answer.text) : null;
  }

  async #changesNothing(runId: string): Promise<boolean> {
    const { changes = [], outputs = [] } = objectOf(await this.#readPlan(runId));
    return [changes, outputs].every(
      (list) =>
        Array.isArray(list) && list.every((change) => ['no-op', 'read'].includes(String(objectOf(change)['action']))),
    );
  }

  async #readState(instanceId: string): Promise<JsonValue> {
    const { body } = await this.#caller.get(`/instances/${instanceId}/state-versions?limit=1`);
    const serial = body.state_versions?.[0]?.serial;
    if (serial === undefined) return null;
    return stateOf(parseExactJson(await this.#readText(`/instances/${instanceId}/state-versions/${serial}/download`)));
  }
}

const Run = z.object({
  id: z.string(),
  instance_id: z.string(),
  status: z.string(),
  status_reason: z.string().nullable(),
  status_detail: z.object({ message: z.string() }).nullish(),
});
type Run = z.output<typeof Run>;

function messageOf({ status_detail: detail, status_reason: reason }: Run): string {
  return detail?.message ?? reason ?? '';
}

function ended(stage: Stage, error: string, plan: JsonValue = null): Lifecycle {
  return { stage, error, plan, outputs: null, state: null, isSettled: null };
}

/** What publication refused, from the body of its problem (docs/errors.md). */
function refused(text: string): Lifecycle {
  const { detail, errors = [] } = Problem.parse(JSON.parse(text));
  return { ...ended('publish', detail), refusals: errors.map(({ message }) => message) };
}

const Problem = z.object({ detail: z.string(), errors: z.array(z.object({ message: z.string() })).optional() });

/** The files as they are, and a schema that takes the variables that the configuration is given. */
function describeSpec(tool: InstalledTool, configuration: Configuration) {
  const properties = Object.fromEntries(Object.keys(configuration.variables).map((name) => [name, {}]));
  return {
    variables: { type: 'object', properties },
    executor: { kind: 'opentofu', ...describeSource(configuration) },
    tool: { name: tool.name, version: tool.version },
  };
}

function describeSource({ directory, path, repository }: Configuration) {
  if (repository !== null)
    return { git: { url: repository.url, ref: repository.commit, ...(path !== '' && { path }) } };
  const paths = listFiles(directory).filter((each) => each !== 'case.json');
  return { files: Object.fromEntries(paths.map((each) => [each, readText(join(directory, each))])) };
}

function readText(path: string): string {
  const content = readFileSync(path);
  if (!isUtf8(content)) throw new UnsuitableConfiguration('it has a file that is not text');
  return content.toString();
}

/** A configuration that cannot be sent as text; from git it could be. */
export class UnsuitableConfiguration extends Error {}
