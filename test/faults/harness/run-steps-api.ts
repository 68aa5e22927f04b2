import { afterAll } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

/** An API on its own database, whose runs a test leads step by step, as the engine and the workers would. */
export interface RunStepsApi {
  readonly api: TestApi;
  readonly admin: ApiUser;
  readonly steps: RunSteps;
  /** The run as `GET /runs/{id}` shows it to the administrator. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the response
  readRun(id: string): Promise<any>;
  /** The run's events of this type; all of them if no type is given. */
  readEvents(id: string, type?: string): Promise<RunEvent[]>;
}

export interface RunEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type has its own data
  readonly data: any;
}

/** Opens the API for all tests of the calling file, and closes it after them. */
export async function openRunStepsApi(): Promise<RunStepsApi> {
  const api = await startApi();
  afterAll(() => api.close());
  const admin = await api.addUser('admin');
  return {
    api,
    admin,
    steps: new RunSteps(api, admin),
    readRun: async (id) => (await admin.get(`/runs/${id}`)).body,
    readEvents: async (id, type) => {
      const events: RunEvent[] = (await admin.get(`/runs/${id}/events`)).body.events;
      return type === undefined ? events : events.filter((event) => event.type === type);
    },
  };
}
