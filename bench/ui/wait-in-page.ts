import type { Page } from 'playwright-core';

const longestMs = 30_000;

/**
 * Waits frame by frame until a condition (JavaScript) holds in a page. Answers how many milliseconds that took after `begin` (JavaScript)
 * had run. The library's own waiting evaluates texts, which the policy of the pages forbids.
 * @throws Error if the condition does not hold within half a minute
 */
export function waitInPage(page: Page, condition: string, begin = ''): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve, reject) => {
    const startedAt = performance.now();
    ${begin};
    const look = () => {
      const elapsed = performance.now() - startedAt;
      if (${condition}) resolve(elapsed);
      else if (elapsed > ${longestMs}) reject(new Error(${JSON.stringify(`the page did not fulfil: ${condition}`)}));
      else requestAnimationFrame(look);
    };
    look();
  })`);
}
