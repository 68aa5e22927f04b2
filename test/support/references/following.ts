import { expect } from 'vitest';
import type { FollowDeps } from '#domain/following/change.ts';
import { handleUpstreamEvent } from '#domain/following/follow-event.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { plain, type ReadingStage, secret } from './reading-stage.ts';

/** What started a run of an instance that follows. */
export interface FollowingRun {
  readonly id: string;
  readonly status: string;
  readonly source: string;
  readonly requester: string;
  readonly message: string;
}

export const outputOf = (environment: string, instance: string, output: string) =>
  `\${instances.${environment}/${instance}.outputs.${output}}`;

/** Instances of a stage that follow others. Events are delivered only when a test says so. */
export class Following {
  readonly #stage: ReadingStage;

  constructor(stage: ReadingStage) {
    this.#stage = stage;
  }

  get deps(): FollowDeps {
    const { services } = this.#stage.api;
    return { ...services, bindingKey: services.installation.bindingKey };
  }

  /** Delivers an event, as the outbox does. */
  happened(type: string, id: string): Promise<void> {
    return handleUpstreamEvent(this.deps, { type, subject: { id } });
  }

  ended(runId: string): Promise<void> {
    return this.happened('run.finished', runId);
  }

  runsOf(instance: string): Promise<FollowingRun[]> {
    return this.#stage.api.rows<FollowingRun>(
      `select id, status, started_by_run_id as source, requested_by_id as requester, message from runs where instance_id = ? and started_by_run_id is not null order by id`,
      [instance],
    );
  }

  follow(instance: string, enabled = true, caller = this.#stage.tenant.owner) {
    return caller.put(`/instances/${instance}/follow`, { enabled });
  }

  async read(instance: string) {
    return (await this.#stage.tenant.owner.get(`/instances/${instance}/follow`)).body;
  }

  /** Deploys an instance again with these outputs; answers the run, whose end is not delivered. */
  async change(instance: string, outputs: MaskedOutputs, variables: object = {}): Promise<string> {
    const { status, body, text } = await this.#stage.ask(variables, { environment_id: this.#stage.shared, instance });
    expect(status, text).toBe(202);
    await this.#stage.finish(body.id, outputs);
    return body.id;
  }

  /** The same, and delivers its end. */
  async redeploy(instance: string, outputs: MaskedOutputs, variables: object = {}): Promise<string> {
    const id = await this.change(instance, outputs, variables);
    await this.ended(id);
    return id;
  }

  /** An instance, and another one that was deployed with its outputs and follows them. */
  async pair(name: string, variables: object = { size: outputOf('shared', name, 'size') }) {
    const stage = this.#stage;
    const source = await stage.deploy({ instance: name }, { size: plain(1), token: secret('hidden-1') });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    const { reader, run } = await this.reader(`of-${name}`, variables);
    return { source, reader, run };
  }

  /** An instance that was deployed with these variables and follows what it reads. */
  async reader(instance: string, variables: object) {
    const { status, body, text } = await this.#stage.ask(variables, { instance });
    expect(status, text).toBe(202);
    await this.#stage.finish(body.id);
    await this.ended(body.id);
    const saved = await this.follow(body.instance_id);
    expect(saved.status, saved.text).toBe(200);
    return { reader: body.instance_id as string, run: body.id as string };
  }
}
