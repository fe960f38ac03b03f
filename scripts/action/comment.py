#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the file GABLE_SUMMARY into a comment of the pull request: the one that it wrote before, if there is one.

A token that may not comment costs a warning, not the check: on forks GitHub gives no other.
"""
import json
import os
import sys
import urllib.error
import urllib.request

_MARK = "<!-- gable -->"
_MOST = 65000  # of a comment's 65,536 characters


def ask(method, path, body=None):
    request = urllib.request.Request(os.environ.get("GITHUB_API_URL", "https://api.github.com") + path, method=method,
                                     data=None if body is None else json.dumps(body).encode())
    request.add_header("Authorization", "Bearer " + os.environ["GABLE_TOKEN"])
    request.add_header("Accept", "application/vnd.github+json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def former(comments):
    """The address of our comment; None without one."""
    for page in range(1, 100):
        listed = ask("GET", f"{comments}?per_page=100&page={page}")
        for comment in listed:
            if comment["body"].startswith(_MARK):
                return comment["id"]
        if len(listed) < 100:
            return None
    return None


def main():
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        number = json.load(file).get("pull_request", {}).get("number")
    if number is None:
        print("This run belongs to no pull request, so there is nothing to comment.")
        return
    with open(os.environ["GABLE_SUMMARY"], encoding="utf-8") as file:
        text = f"{_MARK}\n{file.read()}"
    if len(text) > _MOST:
        text = text[:_MOST].rsplit("\n", 1)[0] + "\n\n(cut: the whole is in the run's summary)\n"
    repository = os.environ["GITHUB_REPOSITORY"]
    comments = f"/repos/{repository}/issues/{number}/comments"
    try:
        known = former(comments)
        if known is None:
            ask("POST", comments, {"body": text})
        else:
            ask("PATCH", f"/repos/{repository}/issues/comments/{known}", {"body": text})
    except (OSError, ValueError, KeyError) as problem:
        reason = f"HTTP {problem.code}" if isinstance(problem, urllib.error.HTTPError) else str(problem)
        print(f"::warning::The summary could not be commented ({reason}): give the job permissions: pull-requests: write.")


sys.exit(main())
