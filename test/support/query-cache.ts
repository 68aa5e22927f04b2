import type { Em } from '#database/database.ts';

/** An entity manager that sends every query once and then answers it from memory, whichever way the query is written. */
export function cacheQueries(em: Em): Em {
  const connection = cacheCalls(em.getConnection(), ['run']);
  const cached: Em = cacheCalls(em, ['execute', 'find', 'findOne'], {
    fork: () => cached,
    getConnection: () => connection,
  });
  return cached;
}

/** The same object, except that calls of some methods with the same arguments are made once. */
function cacheCalls<T extends object>(object: T, methods: readonly string[], replaced: Partial<T> = {}): T {
  const results = new Map<string, unknown>();
  return new Proxy(object, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!methods.includes(String(name))) return member.bind(target);
      return (...args: unknown[]) => {
        const key = JSON.stringify([name, ...args], (_key, value) =>
          typeof value === 'function' ? value.name : value,
        );
        if (!results.has(key)) results.set(key, member.apply(target, args));
        return results.get(key);
      };
    },
  });
}
