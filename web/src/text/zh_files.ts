// 关于文件的文字。

import type { enFiles } from "./en_files";

export const zhFiles: Record<keyof typeof enFiles, string> = {
  "files.attach": "添加文件",
  "files.photo": "拍照",
  "files.attached": "已添加的文件",
  "files.sending": "正在上传",
  "files.remove": "移除 {name}",
  "files.too_large": "超过 20 MB，请发送较小的文件。",
  "files.unreachable": "连接中断。",
  "files.picture": "图片 {name}",
  "files.not_shown": "无法显示此图片。",
  "files.save": "保存",
  "files.of_call": "此调用涉及的文件",
  "files.unseen": "文件已不存在，或你无权查看：",
};
