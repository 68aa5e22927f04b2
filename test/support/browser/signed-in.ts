import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { sessionCookie } from '#api/edge/cookies.ts';
import { type ApiUser, type TestApi, testPassword } from '../api/in-process-api.ts';
import { Visitor } from './visitor.ts';

/** A visitor of pages who has signed in by the form. */
export async function signInVisitor(
  { app }: Pick<TestApi, 'app'>,
  { email }: { readonly email: string },
  headers?: Record<string, string>,
): Promise<Visitor> {
  const visitor = new Visitor(app, headers);
  expect((await visitor.submit('/login', { email, password: testPassword })).status).toBe(303);
  return visitor;
}

/**
 * Gives a page of a browser, and the others of its context, a new session of a user. The form for signing in takes two more pages, and
 * `test/browser/login.test.ts` tests it.
 */
export async function addSession(page: Page, origin: string, user: ApiUser): Promise<void> {
  const { credential } = await user.api.signIn(user);
  const value = credential['authorization']?.replace('Bearer ', '') ?? '';
  await page.context().addCookies([{ name: sessionCookie, value, url: origin }]);
}

/** Signs in by the form, in a real browser. */
export async function signInAt(page: Page, origin: string, { email }: { readonly email: string }): Promise<void> {
  await page.goto(`${origin}/login`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(testPassword);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${origin}/`);
}

/** Presses a link or a button as somebody without a mouse does. */
export async function press(page: Page, role: 'link' | 'button', name: string): Promise<void> {
  await page.getByRole(role, { name, exact: true }).first().focus();
  await page.keyboard.press('Enter');
}
