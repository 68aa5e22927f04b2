import type { TestApi } from '#test/support/api/in-process-api.ts';
import { findPageFaults } from '#test/support/pages/find-faults.ts';
import { addHostileContent } from '#test/support/pages/hostile/hostile-content.ts';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import { declareHostile } from '#test/support/pages/list/hostile-pages.ts';
import type { Onlookers } from '#test/support/pages/onlookers.ts';
import type { Installation } from '#test/support/pages/realistic-installation.ts';

/** Adds hostile content. Answers the pages that show it. */
export async function attack(api: TestApi, installation: Installation): Promise<DeclaredPage[]> {
  return declareHostile(await addHostileContent(api, installation));
}

/** Prints what is wrong with each page. Answers how many pages have faults. */
export async function checkPages(onlookers: Onlookers, pages: readonly DeclaredPage[]): Promise<number> {
  let faulty = 0;
  for (const page of pages) {
    const faults = await findPageFaults(onlookers, page);
    if (faults.length > 0) faulty += 1;
    const verdict = `${faults.length === 0 ? 'good ' : 'WRONG'}  ${page.name}  ${page.address}`;
    console.log([verdict, ...faults].join('\n         '));
  }
  console.log(`${pages.length} pages, ${faulty} of them with faults`);
  return faulty;
}
