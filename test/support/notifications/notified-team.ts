import { media } from '#domain/messages/model.ts';
import { notifyOfEvents } from '#domain/notifications/creation/follow.ts';
import type { NewEvent } from '#domain/shared/events/publish.ts';
import type { ApiUser, TestApi } from '../api/in-process-api.ts';
import { PendingRuns } from '../runs/pending-runs.ts';

/** A team with runs that wait for review, whose members are told what happens. */
export class NotifiedTeam {
  readonly runs: PendingRuns;
  readonly reviewer: ApiUser;
  readonly second: ApiUser;
  readonly #api: TestApi;

  private constructor(api: TestApi, runs: PendingRuns, [reviewer, second]: readonly [ApiUser, ApiUser]) {
    this.#api = api;
    this.runs = runs;
    this.reviewer = reviewer;
    this.second = second;
  }

  static async start(api: TestApi): Promise<NotifiedTeam> {
    const runs = await PendingRuns.start(api);
    return new NotifiedTeam(api, runs, runs.reviewers as [ApiUser, ApiUser]);
  }

  /** Does what a worker does, until there is nothing more to tell. */
  async notify(): Promise<void> {
    while (await notifyOfEvents(this.#api.services.orm, async () => new Set(media), this.#api.services.log));
  }

  /** Forgets what was told, and what would be told. */
  async forget(): Promise<void> {
    await this.notify();
    for (const table of ['notifications', 'notification_preferences', 'outgoing_messages'])
      await this.#api.rows(`delete from ${table}`);
  }

  /** Publishes an event, and tells of it. */
  async publish(event: NewEvent): Promise<void> {
    await this.#api.services.transactions.run(async (tx) => tx.publish(event));
    await this.notify();
  }

  /** Asks people to review a run. */
  async ask(run: string, ...reviewers: ApiUser[]): Promise<void> {
    const body = { reviewers: reviewers.map(({ id }) => id), message: 'please' };
    const { status, text } = await this.runs.asker.post(`/runs/${run}/approval/request`, body);
    if (status !== 202) throw new Error(`the request for reviews answered ${status}: ${text}`);
  }

  /** Adds a run that people are asked to review, and tells them. Returns its id. */
  async addAsked(...reviewers: ApiUser[]): Promise<string> {
    const run = await this.runs.add([]);
    await this.ask(run, ...reviewers);
    await this.notify();
    return run;
  }
}

/** The titles of what a user was told and may still read, newest first. */
export async function titlesOf(user: ApiUser, query = ''): Promise<string[]> {
  const { body } = await user.get(`/notifications${query}`);
  return body.notifications.map(({ title }: { title: string }) => title);
}
