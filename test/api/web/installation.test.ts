import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runStatuses } from '#domain/runs/model.ts';
import { waitingCodes } from '#domain/runs/waiting.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addHostileContent } from '#test/support/pages/hostile/hostile-content.ts';
import { hostileName, hostileText } from '#test/support/pages/hostile/texts.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';

let api: TestApi;
let installation: Installation;

describe('the installation that pages are looked at with', () => {
  beforeAll(async () => {
    api = await startApi();
    installation = await seedInstallation(api);
  });
  afterAll(() => api?.close());

  it('has about 300 runs, in every status and waiting for every reason', async () => {
    const rows = await api.rows<{ status: string; code: string | null }>(
      `select status, waiting_on ->> 'code' as code from runs`,
    );
    expect(rows.length).toBeGreaterThan(290);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(runStatuses));
    expect(new Set(rows.map(({ code }) => code))).toEqual(new Set([null, ...waitingCodes]));
  });

  it('answers every named run with its plan, its log and its events', async () => {
    const { admin } = installation.people;
    for (const [name, { id }] of Object.entries(installation.runs)) {
      const run = await admin.get(`/runs/${id}`);
      expect(run.status, name).toBe(200);
      if (run.body.plan) expect((await admin.get(`/runs/${id}/plan`)).status, name).toBe(200);
      expect((await admin.get(`/runs/${id}/logs`)).status, name).toBe(200);
      expect((await admin.get(`/runs/${id}/events`)).body.events.length, name).toBeGreaterThan(0);
    }
  });

  it('opens the states and outputs of its instances', async () => {
    const { admin } = installation.people;
    for (const { id, name } of installation.instances) {
      const { body, status } = await admin.get(`/instances/${id}`);
      expect(status, name).toBe(200);
      if (body.state_serial === 0) continue;
      expect((await admin.get(`/instances/${id}/state-versions/${body.state_serial}/download`)).status, name).toBe(200);
      expect((await admin.get(`/instances/${id}/outputs`)).status, name).toBe(200);
    }
  });

  it('may be attacked by texts, which the API answers as they are', async () => {
    const { admin } = installation.people;
    const { runs, environmentId } = await addHostileContent(api, installation);
    for (const [name, id] of Object.entries(runs)) {
      expect((await admin.get(`/runs/${id}`)).body.message, name).toBe(hostileText);
      expect((await admin.get(`/runs/${id}/plan`)).status, name).toBe(200);
      expect((await admin.get(`/runs/${id}/logs`)).status, name).toBe(200);
    }
    expect((await admin.get(`/environments/${environmentId}`)).body.name).toBe(hostileName());
  });
});
