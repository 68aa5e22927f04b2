import type { Em } from '#database/database.ts';

/** An entity manager that sends every query once and then answers it from memory. */
export function cacheQueries(em: Em): Em {
  const answers = new Map<string, unknown>();
  const cachedMethods = new Set(['execute', 'find', 'findOne']);
  const proxy: Em = new Proxy(em, {
    get: (target, name) => {
      if (name === 'fork') return () => proxy;
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!cachedMethods.has(String(name))) return member.bind(target);
      return (...args: unknown[]) => {
        const key = JSON.stringify([name, ...args], (_key, value) =>
          typeof value === 'function' ? value.name : value,
        );
        if (!answers.has(key)) answers.set(key, member.apply(target, args));
        return answers.get(key);
      };
    },
  });
  return proxy;
}
