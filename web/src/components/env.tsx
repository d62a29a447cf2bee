// Where a call acts. Production is the one that stands out.

export function Env({ name }: { name: string }) {
  const production = /^prod(uction)?$/i.test(name);
  return <span class={production ? "env env-production" : "env"}>{name}</span>;
}
