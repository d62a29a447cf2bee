// The parts that every view is made of.

export { ArmButton } from "./arm";
export { Button } from "./button";
export { Env } from "./env";
export { Field } from "./field";
export { Kbd } from "./kbd";
export { Notice } from "./notice";
export { Pill, type Tone } from "./pill";
export { RiskShape, RiskTag } from "./risk";
export { Segments } from "./segments";
export { Sheet } from "./sheet";
export { SOON_MS, TimeLeft } from "./timeleft";
export { toast, Toasts, type ToastLine } from "./toast";
export { Who } from "./who";
