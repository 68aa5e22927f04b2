import { Pool } from 'undici';
import { sessionCookie } from '#api/edge/cookies.ts';
import { declareAll } from '#test/support/pages/list/all-pages.ts';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import type { PersonKey } from '#test/support/pages/people.ts';
import { percentile } from '../report/statistics.ts';
import type { Stage } from './stage.ts';

const requests = 30;

/** The 95th percentile of the time to the last byte of every declared page, by the name of the page. */
export async function measureServer(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const pool = new Pool(stage.installation.url, { connections: 1, pipelining: 1 });
  const cookies = new Map<PersonKey | null, string>([[null, '']]);
  const times: [string, number][] = [];
  try {
    // Pages that refuse a link are limited, because somebody may guess links.
    for (const page of declareAll(stage.seeded).filter(({ answers }) => answers < 400)) {
      const cookie = cookies.get(page.who) ?? (await signIn(stage, page.who));
      cookies.set(page.who, cookie);
      times.push([page.name, await timePage(pool, page, cookie)]);
    }
  } finally {
    await pool.destroy();
  }
  return Object.fromEntries(times);
}

async function signIn({ api, seeded }: Stage, who: PersonKey | null): Promise<string> {
  if (who === null) return '';
  const { credential } = await api.signIn(seeded.people[who]);
  return `${sessionCookie}=${credential['authorization']?.replace('Bearer ', '') ?? ''}`;
}

async function timePage(pool: Pool, { address, name, answers }: DeclaredPage, cookie: string): Promise<number> {
  const times: number[] = [];
  for (let each = 0; each < requests; each += 1) {
    const startedAt = performance.now();
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: address,
      headers: { accept: 'text/html', 'accept-encoding': 'gzip', cookie },
    });
    await body.dump({ limit: 64 * 1024 * 1024 });
    if (statusCode !== answers) throw new Error(`${name} (${address}) answered ${statusCode} instead of ${answers}`);
    times.push(performance.now() - startedAt);
  }
  return percentile(times.slice(2), 0.95);
}
