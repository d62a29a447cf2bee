// What a screen reader is told beside where the focus is. One region of the page speaks (`Announce`): with two of them a decision would
// be read out twice.

let tell: (text: string) => void = () => {};

export function speak(text: string): void {
  tell(text);
}

export function whenSpoken(to: (text: string) => void): void {
  tell = to;
}
