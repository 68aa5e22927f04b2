import pino from 'pino';
import { expect } from 'vitest';
import { type ApiAnswer, type ApiUser, openApi, type TestApi } from '../api/in-process-api.ts';
import { startUndoStage, type UndoStage } from '../undo/undo-stage.ts';
import { type Order, outcomeOf, race } from './race.ts';
import { addUserOf, type RivalName, rivals, type Scene } from './rivals.ts';

/** A scene, and the stage that moves its runs. */
export interface Staged extends Scene {
  readonly stage: UndoStage;
}

/** What somebody does by an authority, such as the promotion of an undo. It prepares, and answers what is then carried out. */
export type Use = (staged: Staged) => Promise<() => Promise<ApiAnswer>>;

/** How a use and its rival ended. */
export interface Met {
  readonly staged: Staged;
  readonly used: ApiAnswer;
  /** Both answers in words. */
  readonly outcome: { readonly used: string; readonly rival: string };
  /** The ids of the runs that the use has admitted. */
  readonly admitted: readonly string[];
}

/** Two services on one database, at which uses and their rivals meet. Each pair has a tenant of its own. */
export class RaceStage {
  readonly #stage: UndoStage;
  readonly #there: TestApi;
  readonly #admin: ApiUser;

  private constructor(stage: UndoStage, there: TestApi, admin: ApiUser) {
    this.#stage = stage;
    this.#there = there;
    this.#admin = admin;
  }

  static async start(): Promise<RaceStage> {
    const stage = await startUndoStage();
    const there = await openApi(stage.api.services.config, pino({ level: 'silent' }));
    return new RaceStage(stage, there, await stage.api.addUser('admin'));
  }

  async close(): Promise<void> {
    await this.#there.close();
    await this.#stage.api.close();
  }

  /** Has a use meet a rival, and checks what holds however they end. */
  async meet(use: Use, rival: RivalName | Use, order: Order): Promise<Met> {
    const staged = await this.#build();
    const carryOut = await use(staged);
    const act = typeof rival === 'string' ? await rivals[rival](staged, this.#there) : await rival(staged);
    const before = await this.#runsOf(staged);
    const services = { here: staged.api, there: this.#there };
    const { used, rival: other } = await race(services, order, carryOut, act);
    const admitted = (await this.#runsOf(staged)).filter((id) => !before.includes(id));
    await expectGoverned(staged);
    return { staged, used, outcome: { used: outcomeOf(used), rival: outcomeOf(other) }, admitted };
  }

  /** The same user at the service of the rivals. */
  get there(): TestApi {
    return this.#there;
  }

  /** A new tenant with two applies of an instance, the second of which changed something. */
  async #build(): Promise<Staged> {
    const stage = await this.#stage.elsewhere(this.#admin);
    const { api, tenant, template } = stage;
    const place = { ...stage.place(), version: '1.0.0' };
    await stage.deploy({ ...place, variables: { a: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 2 } });
    const [{ instance } = { instance: '' }] = await api.rows<{ instance: string }>(
      'select instance_id as instance from runs where id = ?',
      [run],
    );
    const others = { otherRun: { ...place, variables: { a: 3 } }, otherTemplate: this.#stage.template };
    const user = await addUserOf(api, tenant);
    return { stage, api, tenant, user, admin: this.#admin, template, instance, run, ...others };
  }

  async #runsOf({ api, user }: Staged): Promise<string[]> {
    const found = await api.rows<{ id: string }>('select id from runs where requested_by_id = ?', [user.id]);
    return found.map(({ id }) => id);
  }
}

/** No run that has not ended has another owner than its environment, or a version of another template than its own. */
async function expectGoverned({ api, instance }: Staged): Promise<void> {
  const ungoverned = await api.rows(
    `select r.id from runs r
       join template_versions v on v.id = r.template_version_id
       join environments e on e.id = r.environment_id
       join projects p on p.id = e.project_id
      where r.instance_id = ? and r.finished_at is null
        and (r.team_id <> p.team_id or r.template_id <> v.template_id or e.deleted_at is not null or e.archived_at is not null)`,
    [instance],
  );
  expect(ungoverned).toEqual([]);
}
