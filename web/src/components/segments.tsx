// A few choices side by side, of which one holds.

interface Props<T extends string> {
  name: string;
  label: string;
  value: T;
  options: readonly { id: T; label: string }[];
  choose: (id: T) => void;
}

export function Segments<T extends string>({ name, label, value, options, choose }: Props<T>) {
  return (
    <fieldset class="segments">
      <legend class="sr">{label}</legend>
      {options.map((option) => (
        <label key={option.id}>
          <input type="radio" class="sr" name={name} value={option.id} checked={option.id === value} onChange={() => choose(option.id)} />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
