// The same in Chinese.

import type { enTalk } from "./en_talk";

export const zhTalk: Record<keyof typeof enTalk, string> = {
  "comments.title": "评论",
  "comments.you": "提到了你",
  "comments.say": "对其他人说点什么",
  "comments.hint": "用 @id 提醒某人。评论不作任何决定，智能体也看不到。",
  "comments.long": "超出 {n} 字节",
  "comments.send": "发表评论",
  "keys.comment": "发表评论",
  "inbox.mentioned": "有人提到你",

  "views.title": "视图",
  "views.keep": "保存此视图",
  "views.name": "给此视图起个名字",
  "views.save": "保存",
  "views.rename": "重命名",
  "keys.views": "保存或修改视图",
  "keys.view": "打开某个视图",

  "push.title": "通知",
  "push.what": "通知只说明等待的是哪类调用、风险多高，不包含调用本身的任何内容。",
  "push.on": "在此浏览器通知我，页面关闭后也通知",
  "push.off": "不再在此浏览器通知我",
  "push.desktop.on": "此标签页在后台时通知我",
  "push.desktop.off": "此标签页在后台时不再通知我",
  "push.none": "此服务器不向已关闭的页面发送通知。",
  "push.cannot": "只有通过 https 打开时才能通知此浏览器。在手机上，请先把页面添加到主屏幕。",
  "push.blocked": "浏览器不允许此页面发送通知，请在浏览器设置中允许。",
  "push.trouble": "没有成功，请重试。",
  "push.others": "同样会收到通知的",
  "push.unnamed": "某个浏览器",
  "push.remove": "移除",
  "push.asks": "等待你的答复。",
  "push.soon": "即将过期，仍在等待你的答复。",
};
