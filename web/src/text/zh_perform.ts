// The words for calls that a person carries out on the page, in Chinese.

import type { enPerform } from "./en_perform";

export const zhPerform: Record<keyof typeof enPerform, string> = {
  "perform.by_hand": "自己填写结果",
  "perform.by_page": "由页面完成",
  "perform.preview": "智能体将收到",
  "perform.missing": "还没有可给出的内容：请先完成上面的步骤。",
  "perform.refused": "浏览器没有允许。请在地址栏中允许后重试，或自己填写结果。",
  "perform.confirm.note": "智能体向你提出一个是或否的问题。你的回答只交给智能体，不批准任何其他事项。",
  "perform.yes": "回答“是”",
  "perform.no": "回答“否”",
  "perform.input": "你的文字",
  "perform.input.note": "智能体请你输入一段文字。",
  "perform.select.note": "智能体请你选择一项。",
  "perform.file": "文件",
  "perform.file.note": "智能体请你提供一个文件。内容在交给智能体之前会先显示给你。",
  "perform.file.binary": "此文件不是文本：只有名称、类型和大小会交给智能体。",
  "perform.file.large": "此文件超过 {bytes} 字节：只有名称、类型和大小会交给智能体。",
  "perform.paste": "读取我的剪贴板",
  "perform.paste.note": "智能体请求你剪贴板中的内容。只有你按下按钮才会读取，交出之前你可以修改。",
  "perform.copy": "复制到我的剪贴板",
  "perform.copy.note": "智能体请你把这段文字放入剪贴板。粘贴到任何地方之前请先看清内容。",
  "perform.copied": "已复制。",
  "perform.location": "获取我的位置",
  "perform.location.busy": "正在查找…",
  "perform.location.note": "智能体想知道你在哪里。浏览器会先征求你的同意，位置在交出之前会先显示给你。",
  "perform.location.rough": "按要求取整到约一公里。",
};
