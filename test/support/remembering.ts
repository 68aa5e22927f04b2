import type { Em } from '#database/database.ts';

/** The database as it stands: each question is put to it once. */
export function remembering(asked: Em): Em {
  const answers = new Map<string, unknown>();
  const remembered = new Set(['execute', 'find', 'findOne']);
  const proxy: Em = new Proxy(asked, {
    get: (target, name) => {
      if (name === 'fork') return () => proxy;
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!remembered.has(String(name))) return member.bind(target);
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
