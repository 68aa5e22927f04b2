import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRing } from '#domain/shared/secrets.ts';
import { claimNames } from '#domain/workload-identity/tokens/claims.ts';
import { mintToken } from '#domain/workload-identity/tokens/mint.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { audience, type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';

const issuer = 'https://coordinator.example.com';
let stage: IdentityStage;
beforeAll(async () => {
  stage = await openIdentityStage(issuer);
});
afterAll(() => stage?.api.close());

const idsOf = async (runId: string) => {
  const [run] = await stage.api.rows<{ template_id: string; instance_id: string }>(
    'select template_id, instance_id from runs where id = ?',
    [runId],
  );
  return run!;
};

describe('the token of an attempt', () => {
  it('has the issuer, the audience, and the ids and slugs of everything that the attempt belongs to', async () => {
    const { runId, attemptId } = await stage.planning();
    const token = await stage.mint({ attemptId });
    const { organization, team, project, environment } = stage.tenant;
    const { template_id: template, instance_id: instance } = await idsOf(runId);
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      iss: issuer,
      aud: audience,
      sub: `organization:${organization}:team:${team}:project:${project}:environment:${environment}:template:${template}:phase:plan`,
      organization_id: organization,
      team: 'core',
      team_id: team,
      project: 'network',
      project_id: project,
      environment: 'development',
      environment_id: environment,
      environment_kind: 'development',
      template: expect.stringMatching(/^stepped-\d+$/),
      template_id: template,
      template_version: '1.0.0',
      instance: expect.stringMatching(/^i-\d+$/),
      instance_id: instance,
      run_id: runId,
      attempt_id: attemptId,
      operation: 'apply',
      phase: 'plan',
    });
    expect(Object.keys(claims).sort(), 'the discovery document lists every claim').toEqual([...claimNames].sort());
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) });
  });

  it('has a subject that AWS accepts, in the phase with the longest name, too', async () => {
    const { attemptId } = await stage.planning();
    const { sub = '' } = decodeJwt(await stage.mint({ attemptId }));
    expect(sub.replace(/plan$/, 'detect').length).toBeLessThanOrEqual(255);
  });

  it('says `apply` in the claim and in the subject only while the run applies', async () => {
    const [plan, apply] = [await stage.planning(), await stage.applying()];
    const [planned, applied] = [decodeJwt(await stage.mint(plan)), decodeJwt(await stage.mint(apply))];
    expect([planned['phase'], applied['phase']]).toEqual(['plan', 'apply']);
    expect([planned.sub, applied.sub]).toEqual([
      expect.stringMatching(/:phase:plan$/),
      expect.stringMatching(/:phase:apply$/),
    ]);
  });

  it.each([
    ['PT10M', 600],
    ['PT5H', 3600],
  ])('the token of a phase that may take %s lasts %i seconds', async (plan, seconds) => {
    const { attemptId } = await stage.planning({ timeouts: { plan } });
    const { iat = 0, nbf = 0, exp = 0 } = decodeJwt(await stage.mint({ attemptId }));
    expect(exp - iat).toBe(seconds);
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
    expect(nbf).toBe(iat - 30);
  });

  it('the tokens of two organizations with the same names share no id', async () => {
    const other = await makeTenant(stage.api);
    const request = { environment_id: other.environment, instance: 'of-the-other' };
    const theirs = await stage.steps.planning(stage.worker, 'none', request);
    const [mine, foreign] = [decodeJwt(await stage.mint(await stage.planning())), decodeJwt(await stage.mint(theirs))];
    const places = ['organization', 'team', 'project', 'environment'];
    expect(places.slice(1).map((name) => foreign[name])).toEqual(places.slice(1).map((name) => mine[name]));
    for (const place of places) {
      expect(foreign[`${place}_id`]).toBe(other[place as 'team']);
      expect(mine.sub).not.toContain(String(foreign[`${place}_id`]));
      expect(foreign.sub).toContain(`${place}:${foreign[`${place}_id`]}:`);
    }
  });

  it('names the organization to which the team belongs when the token is issued', async () => {
    const attempt = await stage.planning();
    const [to] = await stage.api.rows<{ id: string }>('select organization_id as id from teams where id = ?', [
      (await makeTenant(stage.api)).team,
    ]);
    const move = (organization: string, slug: string) =>
      stage.api.rows('update teams set organization_id = ?, slug = ? where id = ? returning 1', [
        organization,
        slug,
        stage.tenant.team,
      ]);
    await move(to!.id, 'moved');
    const { sub = '', organization_id: named } = decodeJwt(await stage.mint(attempt));
    await move(stage.tenant.organization, 'core');
    expect(named).toBe(to!.id);
    expect(sub).toContain(`organization:${to!.id}:team:${stage.tenant.team}:`);
  });

  it('has another id each time', async () => {
    const attempt = await stage.planning();
    const ids = [await stage.mint(attempt), await stage.mint(attempt)].map((token) => decodeJwt(token).jti);
    expect(new Set(ids).size).toBe(2);
  });

  it('is stored nowhere', async () => {
    const token = await stage.mint(await stage.planning());
    const tables = await stage.api.rows<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    for (const { name } of tables) {
      const rows = await stage.api.rows(`select 1 from "${name}" t where strpos(t::text, ?) > 0`, [
        token.split('.')[2],
      ]);
      expect(rows, name).toEqual([]);
    }
  });
});

describe('the issuing of tokens', () => {
  const superseded = { name: 'AttemptSuperseded' };

  it('no token is issued to a worker other than the one that executes the attempt', async () => {
    const attempt = await stage.planning();
    const other = await stage.steps.worker('none');
    await expect(stage.mint(attempt, { workerId: other })).rejects.toMatchObject(superseded);
  });

  it('no token is issued for an attempt that has ended', async () => {
    const { attemptId } = await stage.planning();
    await stage.steps.complete(attemptId, { outcome: 'failed' });
    await expect(stage.mint({ attemptId })).rejects.toMatchObject(superseded);
  });

  it('no token is issued for the plan of a run that is already applying', async () => {
    const { runId, attemptId: applying } = await stage.applying();
    const [planned] = await stage.api.rows<{ id: string }>('select id from run_attempts where run_id = ? and id <> ?', [
      runId,
      applying,
    ]);
    await expect(stage.mint({ attemptId: planned?.id ?? '' })).rejects.toMatchObject(superseded);
  });

  it('no token is issued for a run that somebody has canceled', async () => {
    const { runId, attemptId } = await stage.planning();
    await stage.tenant.owner.post(`/runs/${runId}/cancel`, { force: true });
    await expect(stage.mint({ attemptId })).rejects.toMatchObject(superseded);
  });

  it('no token is issued for a run outside every environment', async () => {
    const { attemptId } = await stage.steps.planning(stage.worker, 'none');
    await expect(stage.mint({ attemptId })).rejects.toMatchObject({ name: 'EnvironmentRequired' });
  });

  it('no token is issued while the service does not know its public URL', async () => {
    const attempt = await stage.planning();
    await expect(stage.mint(attempt, { issuer: null })).rejects.toMatchObject({ code: 'issuer_unknown' });
  });

  it('no token is issued if the key ring cannot decrypt the signing key', async () => {
    const { attemptId } = await stage.planning();
    const request = { attemptId, workerId: stage.worker, issuer, audience };
    const other = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 9) }]);
    const minted = mintToken(stage.api.services.orm.em.fork(), other, request);
    await expect(minted).rejects.toMatchObject({ name: 'SigningKeyUnavailable' });
  });
});
