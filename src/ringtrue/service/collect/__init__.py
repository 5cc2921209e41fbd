"""The owner's actions: projects from files, labels in and out, quality, gold, and pairs as votes arrive."""

from ringtrue.service.collect.uploads import UploadedFile as UploadedFile
