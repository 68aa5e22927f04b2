import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { sessionCookie } from '#api/edge/cookies.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { openWatchedPage, type PageWatch } from '../browser/browser.ts';
import type { People, PersonKey } from './people.ts';

export interface Onlooker {
  readonly page: Page;
  readonly watch: PageWatch;
}

/** Lets the people of an installation look at its pages: each is signed in, in a browser page of their own. */
export class Onlookers {
  readonly origin: string;
  readonly #browser: Browser;
  readonly #api: TestApi;
  readonly #people: People;
  readonly #open = new Map<PersonKey | null, Promise<Onlooker>>();

  /** @param origin where the API listens, as `listen` answers */
  constructor(browser: Browser, api: TestApi, people: People, origin: string) {
    this.#browser = browser;
    this.#api = api;
    this.#people = people;
    this.origin = origin;
  }

  /** The browser page of a person; null: of somebody who is not signed in. */
  at(who: PersonKey | null): Promise<Onlooker> {
    const open = this.#open.get(who) ?? this.#begin(who);
    this.#open.set(who, open);
    return open;
  }

  async #begin(who: PersonKey | null): Promise<Onlooker> {
    const { page, watch } = await openWatchedPage(this.#browser, this.origin);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    if (who === null) return { page, watch };
    const { credential } = await this.#api.signIn(this.#people[who]);
    const token = credential['authorization']?.replace('Bearer ', '') ?? '';
    await page.context().addCookies([{ name: sessionCookie, value: token, url: this.origin }]);
    return { page, watch };
  }
}

/** Lets the API listen on a free port of loopback. Answers its origin. */
export async function listen(api: TestApi): Promise<string> {
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
}
