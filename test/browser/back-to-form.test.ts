import { describe, expect, it } from 'vitest';
import { findBrowser } from '#test/support/browser/browser.ts';
import { type SignedInPage, useSignedInPage } from '#test/support/browser/signed-in-page.ts';

let opened: SignedInPage;

const field = (name: string) => opened.page.locator(`form.form [name="${name}"]`);

/** Follows a link to another page, and goes back as a person does. */
async function leaveAndComeBack(): Promise<void> {
  await opened.page.locator('.navigation').getByRole('link', { name: 'Catalog' }).click();
  await opened.page.waitForURL(`${opened.origin}/catalog`);
  const answer = await opened.page.goBack();
  expect([answer?.status(), answer?.request().method()]).toEqual([200, 'GET']);
}

describe.skipIf(findBrowser() === null)('going back to a form, in a real browser', () => {
  opened = useSignedInPage();
  it('shows what was typed after the form was refused', async () => {
    await opened.page.goto(`${opened.origin}/users/new`);
    await field('name').fill('Ana');
    await field('email').fill('not an address');
    await opened.page.keyboard.press('Enter');
    await opened.page.getByRole('alert').waitFor();
    await leaveAndComeBack();
    await opened.page.getByText('We kept what you typed.').waitFor();
    expect(opened.page.url()).toBe(`${opened.origin}/users/new`);
    expect([await field('name').inputValue(), await field('email').inputValue()]).toEqual(['Ana', 'not an address']);
    await opened.page.reload();
    expect(await field('name').inputValue()).toBe('Ana');
  });

  it('shows what was typed into a form without autocomplete that asks for a confirmation', async () => {
    const step = [{ name: 'go', run: ['true'] }];
    const executor = { kind: 'command', apply: step, destroy: step };
    const { id } = await opened.root.make('/registry/templates', { name: 'Greeter' });
    await opened.root.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: { executor } });
    await opened.page.goto(`${opened.origin}/catalog/${id}/run?environment_id=none&operation=destroy`);
    await field('message').fill('tidy up');
    await leaveAndComeBack();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
    await opened.page.getByRole('button', { name: 'Destroy' }).click();
    await opened.page.getByText('Nothing has started yet.').waitFor();
    await leaveAndComeBack();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
  });
});
