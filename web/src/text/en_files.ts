// Words about files.

export const enFiles = {
  "files.attach": "Attach files",
  "files.photo": "Take a photo",
  "files.attached": "Attached files",
  "files.sending": "On its way",
  "files.remove": "Remove {name}",
  "files.too_large": "More than 20 MB: send a smaller one.",
  "files.unreachable": "The connection broke.",
  "files.picture": "Picture {name}",
  "files.not_shown": "This picture cannot be shown.",
  "files.save": "Save",
  "files.of_call": "Files of this call",
  "files.unseen": "A file that is gone, or that you may not see:",
};
